# Run at every build: `cmake -D COUP_VERSION=... -D SOURCE=... -D OUT=... -P version.cmake`.
# The file changes only when the commit does, so nothing is compiled again without need.
execute_process(
    COMMAND git -C ${SOURCE} describe --always --dirty=+ --abbrev=10 --match=no-tag
    OUTPUT_VARIABLE COUP_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT EXISTS ${SOURCE}/.git)
    set(COUP_COMMIT "no commit")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${OUT} @ONLY)
