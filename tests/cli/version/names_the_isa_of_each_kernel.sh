# WTE_ISA caps what serves the kernels; a set that there is not is refused by every command.
. "$DATA/../cli/lib.sh"
WTE_ISA=scalar wte version > printed
sed -n 1p printed
sed '1,/^kernels/d' printed | awk '{ print $2 }' | sort -u
WTE_ISA=scalar wte version --json | head -3
wte --version | head -1
export WTE_ISA=mmx
run wte version
run wte lookup demo 1
