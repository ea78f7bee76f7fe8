# holders.rb LOG SECONDS LIBRARY - threads that compute below Ruby's GVL, at times in calls that do not
# let it go, which log themselves: gil_hold.c.
require "fiddle"
LIBRARY = Fiddle.dlopen(ARGV[2])
HOLD = Fiddle::Function.new(LIBRARY["hold"], [Fiddle::TYPE_LONG_LONG], Fiddle::TYPE_VOID, need_gvl: true)
WRITE = Fiddle::Function.new(LIBRARY["hold_write"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID)

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

stop = now + ARGV[1].to_f
5.times.map do |n|
  Thread.new do
    pick = Random.new(n)
    while now < stop
      sleep(pick.rand * 0.1)
      if pick.rand < 0.6
        HOLD.call(pick.rand(4..30) * 1_000_000)
      else
        pick.rand(2_000..60_000).times { |i| i * i }
      end
    end
  end
end.each(&:join)
WRITE.call(ARGV[0])
