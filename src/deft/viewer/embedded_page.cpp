#include "deft/viewer/embedded_page.hpp"

#include <cstddef>

#include "deft/core/index.hpp"

// The assembler copies the file: the compiler never sees half a megabyte of text. DEFT_VIEWER_PAGE is set in
// DeftViewer.cmake.
asm(".section .rodata\n"
    ".global deft_viewer_page_begin\n"
    ".global deft_viewer_page_end\n"
    "deft_viewer_page_begin:\n"
    ".incbin \"" DEFT_VIEWER_PAGE
    "\"\n"
    "deft_viewer_page_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" const char deft_viewer_page_begin[];
extern "C" const char deft_viewer_page_end[];

namespace deft::viewer {

std::string_view embedded_page() {
  return {deft_viewer_page_begin, to_size(deft_viewer_page_end - deft_viewer_page_begin)};
}

}  // namespace deft::viewer
