// precompiled.hpp and what every test includes.
#include <gtest/gtest.h>

#include "precompiled.hpp"
