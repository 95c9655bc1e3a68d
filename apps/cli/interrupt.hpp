#pragma once

namespace deft::cli {

/// From here on Ctrl-C (and SIGTERM) sets a flag instead of ending the program; a second one ends it.
void catch_interrupts();
/// Whether that happened; safe to ask from all threads.
bool interrupted();
/// What was done about signals before is done again, and none has come: for processes that go on.
void forget_interrupts();

}  // namespace deft::cli
