wte inspect "$DATA/static-f32"
