# groff has no complaint about the page.
if ! command -v groff > found; then
    echo "no groff here"
    exit 77
fi
wte help --man | groff -man -ww -z 2>&1
