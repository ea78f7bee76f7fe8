# Inlined frames, names, lines, files and rows of call frame information of every ELF file of
# testdata, and of perfkit itself, as perfkit's own reader and as libdw has them. perfkit does not
# use libdw: it is the second opinion.
witness=$O/tests/prog/libdw_witness
addresses=0 rows=0 files=0 fails=0 unread=
for f in $(find "$SRC/testdata" -type f -size -400k) "$PERFKIT"; do
	[ "$(head -c 4 "$f" | tr -d '\177')" = ELF ] || continue
	step=1
	[ "$f" = "$PERFKIT" ] && step=499
	"$witness" "$f" $step >out 2>&1
	status=$?
	case $status in
	0) ;;
	77) unread="$unread ${f##*/}"; continue ;;
	*)
		echo "$f:"
		cat out
		fails=$((fails + 1))
		continue
		;;
	esac
	read -r a _ r _ <out
	addresses=$((addresses + a)) rows=$((rows + r)) files=$((files + 1))
done
echo "$files files, $addresses addresses, $rows rows; not for libdw:$unread"
# only what some libdw cannot read, or does not find, may be left out
for f in $unread; do
	case $f in
	zstd.elf | split*.elf) ;;
	*) echo "libdw should read $f"; fails=$((fails + 1)) ;;
	esac
done
[ $fails -eq 0 ] && [ "$addresses" -gt 10000 ] && [ "$rows" -gt 5000 ]
