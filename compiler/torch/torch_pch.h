#pragma once

// What nearly every file of this folder includes; compiled once (CMake: target_precompile_headers).
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/InferenceMode.h>

#include <nlohmann/json.hpp>
