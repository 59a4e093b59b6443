# Views of one storage of 0 to 11 as 4 x 3: sliced, turned, with a step, one row many times. Each comes out as what it stands for.
. "$DATA/../cli/lib.sh"
exec 2>&1
for view in rows turned columns every_row every_column spread parameter; do
    run wte lookup "$DATA/torch/views.pt" --tensor $view 0 1
done
for form in legacy tar deflated protocol4; do
    for view in turned every_column; do wte lookup "$DATA/torch/views-$form.pt" --tensor $view 1 | tail -1; done
done
