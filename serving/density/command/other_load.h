#pragma once

namespace het::density {

/// What other processes do beside a trial: the machine's processor time less that of this process'
/// children that have ended.
class OtherLoad {
 public:
  OtherLoad();
  /// Processors that were kept busy by others since it was made; 0 where the system does not tell.
  double cpus() const;

 private:
  double busy_s_;
  double children_s_;
  double begin_s_;
};

}  // namespace het::density
