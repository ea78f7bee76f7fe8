# Frames lie where flamegraph.pl puts them, for the same folded text and options.
pl=
for p in /usr/share/perl5/Devel/NYTProf/flamegraph.pl /usr/bin/flamegraph.pl; do
	[ -f "$p" ] && pl=$p
done
[ -n "$pl" ] || { echo "flamegraph.pl is not installed (Debian: libdevel-nytprof-perl)"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
set -e
same()  # input, options of both
{
	input=$1
	shift
	"$PERFKIT" svg "$input" -o ours.svg "$@"
	perl "$pl" "$@" "$input" >theirs.svg
	echo "$input $*"
	case " $* " in *" --inverted "*) i=--inverted ;; *) i= ;; esac
	python3 "$SRC/tests/cli/svg_geometry.py" ours.svg theirs.svg $i
}
# runs of functions that begin a thread would be one thin row
python3 "$SRC/tests/cli/flame_folded.py" 1 60 8 | sed "s/_start/begin/g" >small.folded
python3 "$SRC/tests/cli/flame_folded.py" 2 1000 >large.folded
python3 "$SRC/tests/cli/flame_folded.py" 3 200 >mid.folded
awk '{ n = $NF; sub(/ [0-9]+$/, ""); print $0, n, (n * 7) % 150 + 1 }' mid.folded >diff.folded
awk '{ n = $NF; sub(/ [0-9]+$/, ""); printf "%s %d.%02d\n", $0, n, n % 100 }' mid.folded >decimal.folded
for f in small large mid diff decimal; do same $f.folded; done
same mid.folded --width 900 --minwidth 2
same mid.folded --inverted
same mid.folded --total 99999
same mid.folded --height 20 --fontsize 14
same small.folded --reverse
same diff.folded --negate
