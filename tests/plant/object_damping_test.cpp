#include <gtest/gtest.h>

#include "deft/plant/plant.hpp"
#include "support/scenes.hpp"
