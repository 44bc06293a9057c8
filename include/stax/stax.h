// Everything that a program over tensors needs.
#pragma once
#include <stax/base/error.h>
#include <stax/frontend/compile.h>
#include <stax/frontend/creation.h>
#include <stax/frontend/graph.h>
#include <stax/frontend/ops.h>
#include <stax/frontend/tensor.h>
