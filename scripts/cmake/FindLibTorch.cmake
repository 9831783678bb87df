# LibTorch as pip ships it. Torch's own TorchConfig.cmake insists on a CUDA toolkit whenever the wheel
# was built with one; the CPU parts need three libraries and two include folders, so they are named
# here. Result: target LibTorch::LibTorch, variables LibTorch_VERSION and LibTorch_ROOT.
set(BREAKEVEN_TORCH_ROOT "" CACHE PATH "Folder `torch` of a Python environment that holds torch")
file(GLOB be_torch_candidates ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
if(DEFINED ENV{BREAKEVEN_TORCH_ROOT})
  list(PREPEND be_torch_candidates $ENV{BREAKEVEN_TORCH_ROOT})
endif()
if(BREAKEVEN_TORCH_ROOT)
  list(PREPEND be_torch_candidates ${BREAKEVEN_TORCH_ROOT})
endif()
find_path(LibTorch_INCLUDE_DIR ATen/ATen.h PATHS ${be_torch_candidates} PATH_SUFFIXES include
          NO_DEFAULT_PATH)
get_filename_component(LibTorch_ROOT "${LibTorch_INCLUDE_DIR}/.." ABSOLUTE)
find_library(LibTorch_cpu torch_cpu PATHS ${LibTorch_ROOT}/lib NO_DEFAULT_PATH)
find_library(LibTorch_c10 c10 PATHS ${LibTorch_ROOT}/lib NO_DEFAULT_PATH)
# The wheel carries its own OpenMP runtime; linking the same file keeps one thread pool a process.
find_file(LibTorch_gomp NAMES libgomp.so.1 PATHS ${LibTorch_ROOT}/lib NO_DEFAULT_PATH)
if(LibTorch_INCLUDE_DIR AND EXISTS ${LibTorch_ROOT}/version.py)
  file(STRINGS ${LibTorch_ROOT}/version.py be_torch_version REGEX "^__version__ = ")
  string(REGEX MATCH "[0-9][0-9.]*" LibTorch_VERSION "${be_torch_version}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_cpu LibTorch_c10 LibTorch_INCLUDE_DIR VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup (installs torch==2.11.0 into .venv), or set BREAKEVEN_TORCH_ROOT, or configure with -DBREAKEVEN_TORCH=OFF")
if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE ${LibTorch_INCLUDE_DIR}
                             ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include)
  target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_cpu} ${LibTorch_c10})
  if(LibTorch_gomp)
    target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_gomp})
  endif()
  target_link_options(LibTorch::LibTorch INTERFACE -Wl,-rpath,${LibTorch_ROOT}/lib)
endif()
mark_as_advanced(LibTorch_cpu LibTorch_c10 LibTorch_gomp LibTorch_INCLUDE_DIR)
