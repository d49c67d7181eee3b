#pragma once

namespace het::python {

/// The text of script_loader.py, which each interpreter runs once.
extern const char kScriptLoader[];

}  // namespace het::python
