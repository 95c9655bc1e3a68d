#include "errors.hpp"

namespace deft::python {

nb::list diagnostics_list(std::span<const Diagnostic> diagnostics) {
  const nb::object type = nb::module_::import_("deft._errors").attr("Diagnostic");
  nb::list list;
  for (const Diagnostic& d : diagnostics)
    list.append(type(d.where.file, d.where.line, d.where.column, d.severity == Severity::kError ? "error" : "warning",
                     d.message));
  return list;
}

nb::object status_of(solvers::Status status) {
  return nb::module_::import_("deft._errors").attr("STATUSES")[static_cast<int>(status)];
}

void raise_solve_error(const std::string& text, std::optional<solvers::Status> status, double residual) {
  const nb::object type = nb::module_::import_("deft._errors").attr("SolveError");
  PyErr_SetObject(type.ptr(), type(text, status ? status_of(*status) : nb::object(nb::none()), residual).ptr());
  throw nb::python_error();
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      const nb::object type = nb::module_::import_("deft._errors").attr("InputError");
      PyErr_SetObject(type.ptr(), type(error.what(), diagnostics_list(error.diagnostics())).ptr());
    }
  });
}

void raise_interrupts() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace deft::python
