#pragma once

namespace het::archive {

/// What stands behind `hetero archive`, each with its own options; argv[0] is its name. Returns the
/// exit status of the program. main.cpp has their table.
int plan_command(int argc, char** argv);
int run_command(int argc, char** argv);
int status_command(int argc, char** argv);
int worker_command(int argc, char** argv);
int merge_command(int argc, char** argv);
int verify_command(int argc, char** argv);
int predict_command(int argc, char** argv);
int slurm_command(int argc, char** argv);

}  // namespace het::archive
