#pragma once

namespace deft::cli {

/// From here on Ctrl-C (and SIGTERM) sets a flag instead of ending the program; a second one ends it.
void catch_interrupts();
/// Whether that happened; safe to ask from all threads.
bool interrupted();

}  // namespace deft::cli
