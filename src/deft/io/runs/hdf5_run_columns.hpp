#pragma once
// The records of a run as columns of run.h5. Internal to io; the layout is in README.md.

#include <array>
#include <cstdint>

#include "deft/dynamics/trajectory.hpp"
#include "deft/io/runs/hdf5_records.hpp"

/// The members of a run's records, which writing and reading share.
namespace deft::io::run_columns {

using dynamics::ContactRecord;
using dynamics::StepRecord;
using dynamics::SupportRecord;

/// A number of a contact.
template <auto member>
inline constexpr auto contact_number = scalar<ContactRecord, double, member>;
/// A number of a step.
template <auto member>
inline constexpr auto step_number = scalar<StepRecord, double, member>;

/// Numbers of contacts.
inline constexpr std::array kContactNumbers{
    vector<ContactRecord, &ContactRecord::point_W>("/contacts/point_W"),
    vector<ContactRecord, &ContactRecord::normal_W>("/contacts/normal_W"),
    vector<ContactRecord, &ContactRecord::force_W>("/contacts/force_W"),
    vector<ContactRecord, &ContactRecord::torque_W>("/contacts/torque_W"),
    contact_number<&ContactRecord::gap>("/contacts/gap"),
    contact_number<&ContactRecord::gap_start>("/contacts/gap_start"),
    contact_number<&ContactRecord::boundary_gap>("/contacts/boundary_gap"),
    contact_number<&ContactRecord::mu>("/contacts/mu"),
};
/// Bodies of contacts.
inline constexpr std::array kContactIndices{
    scalar<ContactRecord, std::int32_t, &ContactRecord::a>("/contacts/a"),
    scalar<ContactRecord, std::int32_t, &ContactRecord::b>("/contacts/b"),
};
/// States of contacts.
inline constexpr std::array kContactStates{
    scalar<ContactRecord, std::uint8_t, &ContactRecord::state>("/contacts/state")};
/// Numbers of contacts in the model equivalent-contact-point.
inline constexpr std::array kPatchNumbers{
    vector<ContactRecord, &ContactRecord::tangent_W>("/contacts/tangent_W"),
    vector<ContactRecord, &ContactRecord::slip>("/contacts/slip"),
    vector<ContactRecord, &ContactRecord::ellipsoid>("/contacts/ellipsoid"),
};
/// Kinds of contacts in that model.
inline constexpr std::array kPatchKinds{scalar<ContactRecord, std::uint8_t, &ContactRecord::kind>("/contacts/kind")};

/// Numbers of steps.
inline constexpr std::array kStepNumbers{
    step_number<&StepRecord::residual>("/steps/residual"),
    step_number<&StepRecord::residual_stationarity>("/steps/residual_stationarity"),
    step_number<&StepRecord::residual_primal>("/steps/residual_primal"),
    step_number<&StepRecord::residual_complementarity>("/steps/residual_complementarity"),
    step_number<&StepRecord::solve_us>("/steps/solve_us"),
    step_number<&StepRecord::step_us>("/steps/step_us"),
    step_number<&StepRecord::energy>("/steps/energy"),
    step_number<&StepRecord::gap_min>("/steps/gap_min"),
    step_number<&StepRecord::gap_min_linearised>("/steps/gap_min_linearised"),
    step_number<&StepRecord::balance>("/steps/balance"),
    step_number<&StepRecord::bound>("/steps/bound"),
};
/// Whole numbers of steps.
inline constexpr std::array kStepIndices{
    scalar<StepRecord, std::int32_t, &StepRecord::status>("/steps/status"),
    scalar<StepRecord, std::int32_t, &StepRecord::iterations>("/steps/iterations"),
    scalar<StepRecord, std::int32_t, &StepRecord::uniqueness>("/steps/uniqueness"),
};
/// Flags of steps.
inline constexpr std::array kStepFlags{
    scalar<StepRecord, std::uint8_t, &StepRecord::motion_unique>("/steps/motion_unique"),
    scalar<StepRecord, std::uint8_t, &StepRecord::forces_unique>("/steps/forces_unique"),
    scalar<StepRecord, std::uint8_t, &StepRecord::forces_least_norm>("/steps/forces_least_norm"),
};

/// Numbers of supports.
inline constexpr std::array kSupportNumbers{
    vector<SupportRecord, &SupportRecord::load>("/supports/load"),
    scalar<SupportRecord, double, &SupportRecord::factor>("/supports/factor"),
    vector<SupportRecord, &SupportRecord::twist>("/supports/twist"),
    vector<SupportRecord, &SupportRecord::form>("/supports/form"),
};
/// States of supports.
inline constexpr std::array kSupportStates{
    scalar<SupportRecord, std::uint8_t, &SupportRecord::state>("/supports/state")};

}  // namespace deft::io::run_columns
