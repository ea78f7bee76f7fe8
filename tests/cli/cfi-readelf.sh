# Our CFI rows against those of `readelf -wF`, row by row, on the system's own libraries of both
# architectures; and every row found again through the lookup by address.
command -v readelf >/dev/null || { echo "readelf is not here (binutils)"; exit 77; }
rows=$O/tests/prog/cfirows

# readelf's tables as the lines cfirows prints. "u" stands for undefined and for unspecified
# there; FDEs without instructions of their own get no table.
readelf_rows()
{
	readelf -wF "$1" 2>/dev/null | awk -v every="$2" '
	/ CIE / || / ZERO / { fde = 0; next }
	/ FDE / {
		fde = n++ % every == 0
		sub(/.*pc=/, ""); sub(/\.\..*/, ""); start = hex($0)
		next
	}
	# binutils of 2025 call register 46 of arm64 by its name
	$1 == "LOC" { cols = NF; for (i = 3; i <= NF; i++) name[i] = $i == "vg" ? "x46" : $i; next }
	fde && /^[0-9a-f]+ / {
		gsub(/ r[0-9]+ \(/, " ") # "r3 (rbx)"
		gsub(/\)/, "")
		line = start " " hex($1) " " $2
		for (i = 3; i <= cols; i++)
			if ($i != "u" && name[i] ~ /^(ra|sp|x[0-9]+|r[a-ds0-9][xpi0-9]?)$/)
				line = line " " name[i] "=" $i
		print line
	}
	function hex(s) { sub(/^0+/, "", s); return s == "" ? "0" : s }'
}

tried=0 lines=0
check()
{
	[ -f "$1" ] || return 0
	readelf_rows "$1" "$2" | sort >want
	# what readelf leaves out: single rows that equal the CIE, undefined registers
	"$rows" "$1" "$2" | sed 's/ [a-z0-9]*=u//g' | sort >all
	comm -23 want all >lost
	awk 'NR == FNR { fde[$1] = 1; next } $1 in fde' want all >ours
	comm -13 want ours >extra
	if [ -s lost ] || [ -s extra ]; then
		echo "$1: readelf has (<), we have (>):"
		head -5 lost | sed 's/^/< /'
		head -5 extra | sed 's/^/> /'
		return 1
	fi
	"$rows" -r "$1" "$2" || return 1
	tried=$((tried + 1))
	lines=$((lines + $(wc -l <want)))
}

d=/usr/lib/x86_64-linux-gnu
a=/usr/aarch64-linux-gnu/lib
check $d/libc.so.6 1 || exit 1
check $d/libm.so.6 1 || exit 1
check $d/libstdc++.so.6 1 || exit 1
check $d/libgcc_s.so.1 1 || exit 1
check $d/libcrypto.so.3 1 || exit 1
check /lib64/ld-linux-x86-64.so.2 1 || exit 1
check "$(command -v perf)" 1 || exit 1
check /usr/bin/python3 1 || exit 1
check /usr/lib/aarch64-linux-gnu/libc.so.6 1 || exit 1
check $a/libc.so.6 1 || exit 1
check $a/libm.so.6 1 || exit 1
check $a/ld-linux-aarch64.so.1 1 || exit 1
check "$O/perfkit" 1 || exit 1
echo "$tried files, $lines rows agree"
[ $tried -ge 2 ] && [ "$lines" -gt 1000 ]
