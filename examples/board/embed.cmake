# Writes a C++ file with the content of the files in `folder`: the program then needs no file beside it.
# cmake -D folder=assets -D output=assets.cpp -P embed.cmake
file(GLOB files RELATIVE "${folder}" "${folder}/*")
set(text "#include \"assets.hpp\"\n\nnamespace board {\n")
foreach(file IN LISTS files)
    file(READ "${folder}/${file}" bytes HEX)
    file(SHA256 "${folder}/${file}" version)
    string(SUBSTRING "${version}" 0 16 version)
    string(REGEX REPLACE "[^a-z]" "_" name "${file}")
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND text "\nstatic constexpr char ${name}_bytes[] = {${bytes}};\n"
        "const asset ${name}{{${name}_bytes, sizeof ${name}_bytes}, \"${version}\"};\n")
endforeach()
file(WRITE "${output}" "${text}\n}  // namespace board\n")
