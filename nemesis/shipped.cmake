# Every YAML file of FOLDER as text in the program: OUT is a C file with the array NAME of struct
# shipped_text.
file(GLOB files ${FOLDER}/*.yaml)
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WLE)
    file(READ "${file}" text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    string(APPEND rows "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE "${OUT}"
    "#include \"nemesis/shipped.h\"\n\nconst struct shipped_text ${NAME}[] = {\n"
    "${rows}    {0},\n};\n")
