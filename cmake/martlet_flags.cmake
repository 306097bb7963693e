# What every target of this project is compiled and linked with. Nothing here reaches the user of an installed martlet.

if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
    set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    enable_testing()
endif()

find_package(Threads REQUIRED)

if(MARTLET_CCACHE)
    find_program(MARTLET_CCACHE_PROGRAM ccache)
    mark_as_advanced(MARTLET_CCACHE_PROGRAM)
    if(MARTLET_CCACHE_PROGRAM)
        set(CMAKE_CXX_COMPILER_LAUNCHER
            "${CMAKE_COMMAND};-E;env;CCACHE_DIR=${PROJECT_SOURCE_DIR}/build/ccache;CCACHE_MAXSIZE=2G;CCACHE_DEPEND=1;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_SLOPPINESS=pch_defines,time_macros;${MARTLET_CCACHE_PROGRAM}")
    endif()
endif()

# Sanitizers are set for the whole build: a program with one instrumented half is of no use.
if(MARTLET_SANITIZE)
    add_compile_options(-fsanitize=${MARTLET_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${MARTLET_SANITIZE})
    add_compile_definitions(MARTLET_SANITIZED)
    if(MARTLET_SANITIZE MATCHES "undefined")
        add_compile_options(-fno-sanitize-recover=undefined)
        if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
            # Coroutine frames are resumed through pointers of another type by design of the language.
            add_compile_options(-fno-sanitize=function)
        endif()
    endif()
endif()

# An archive that holds LTO code needs an index made by an `ar` that understands it.
if(MARTLET_LTO AND CMAKE_CXX_COMPILER_AR)
    set(CMAKE_AR "${CMAKE_CXX_COMPILER_AR}")
    set(CMAKE_RANLIB "${CMAKE_CXX_COMPILER_RANLIB}")
endif()

# martlet_compile(<target>): the language, warnings and visibility of this project's own code.
function(martlet_compile target)
    target_compile_features(${target} PUBLIC cxx_std_23)
    set_target_properties(${target} PROPERTIES
        CXX_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON)
    # g++'s plain -Wshadow also minds a parameter named like a member function.
    target_compile_options(${target} PRIVATE -Wall -Wextra $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
        "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
endfunction()

# martlet_compile_test(<target>): as martlet_compile, but under a sanitizer the test's own code is not optimised. It compiles twice to three
# times as fast, which is most of the time of a first ./test; the library's code keeps its optimisation.
function(martlet_compile_test target)
    martlet_compile(${target})
    if(MARTLET_SANITIZE)
        target_compile_options(${target} PRIVATE -O0)
    endif()
endfunction()

# martlet_compile_lto(<target>): LTO code beside machine code, so that the archive links with g++ and clang alike.
function(martlet_compile_lto target)
    if(NOT MARTLET_LTO)
        return()
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
    else()
        target_compile_options(${target} PRIVATE -flto -ffat-lto-objects)
    endif()
endfunction()

# martlet_program(<target>): what is shipped and measured. Links the language's runtime statically and optimises the whole program at once.
function(martlet_program target)
    if(NOT MARTLET_SANITIZE)
        target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
    endif()
    if(NOT MARTLET_LTO)
        return()
    endif()
    martlet_compile_lto(${target})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # In one piece: several are compiled side by side only where `make` is installed, and a note says so elsewhere.
        target_link_options(${target} PRIVATE -flto=auto -flto-partition=one)
    else()
        target_link_options(${target} PRIVATE -flto -ffat-lto-objects -fuse-ld=lld)
    endif()
endfunction()

# martlet_program_of_tests(<target>): linked from the machine code in the archives, as a user's program is that knows nothing of LTO, and to
# the shared libstdc++: a test that counts or fails what our code allocates means our code only.
function(martlet_program_of_tests target)
    if(MARTLET_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_link_options(${target} PRIVATE -fno-lto)
    endif()
endfunction()
