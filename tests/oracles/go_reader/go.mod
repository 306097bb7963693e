module reader

go 1.19
