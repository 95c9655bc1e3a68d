//! Clarabel behind three C functions: a workspace that is kept from one program of a shape to the next.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use std::slice;

const TOLERANCE: f64 = 1e-10;

/// The solver of one shape: n unknowns, m rows, the cones.
pub struct Workspace {
    shape: (usize, usize, Vec<i32>),
    solver: Option<DefaultSolver<f64>>,
}

/// All entries of an m × n matrix by columns; of the upper triangle where `upper`.
fn columns(m: usize, n: usize, values: &[f64], upper: bool) -> CscMatrix<f64> {
    let (mut starts, mut rows, mut kept) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for i in 0..(if upper { j + 1 } else { m }) {
            rows.push(i);
            kept.push(values[j * m + i]);
        }
        starts.push(rows.len());
    }
    CscMatrix::new(m, n, starts, rows, kept)
}

#[no_mangle]
pub extern "C" fn deft_clarabel_new() -> *mut Workspace {
    Box::into_raw(Box::new(Workspace { shape: (0, 0, Vec::new()), solver: None }))
}

/// # Safety
/// `workspace` comes from `deft_clarabel_new` and is not used any more.
#[no_mangle]
pub unsafe extern "C" fn deft_clarabel_free(workspace: *mut Workspace) {
    drop(Box::from_raw(workspace));
}

/// min ½xᵀQx + bᵀx, s = Ax − low in the cones (sizes; none: s ≥ 0). Q and A by columns. Returns 1 if it is solved.
///
/// # Safety
/// Pointers hold n·n, n, m·n, m, `num_cones` and n values.
#[no_mangle]
pub unsafe extern "C" fn deft_clarabel_solve(
    workspace: *mut Workspace, keep: bool, n: usize, m: usize, q: *const f64, b: *const f64, a: *const f64, low: *const f64,
    cones: *const i32, num_cones: usize, x: *mut f64,
) -> i32 {
    let workspace = &mut *workspace;
    let sizes = if num_cones > 0 { slice::from_raw_parts(cones, num_cones).to_vec() } else { Vec::new() };
    let p = columns(n, n, slice::from_raw_parts(q, n * n), true);
    // Clarabel's rows: A'x + s = b' with s in the cones.
    let negated: Vec<f64> = slice::from_raw_parts(a, m * n).iter().map(|v| -v).collect();
    let rows = columns(m, n, &negated, false);
    let right: Vec<f64> = slice::from_raw_parts(low, m).iter().map(|v| -v).collect();
    let linear = slice::from_raw_parts(b, n).to_vec();
    let shape = (n, m, sizes);
    if let (true, true, Some(solver)) = (keep, workspace.shape == shape, workspace.solver.as_mut()) {
        if solver.update_data(&p.nzval, &linear, &rows.nzval, &right).is_err() {
            return 0;
        }
    } else {
        let kinds: Vec<SupportedConeT<f64>> = if shape.2.is_empty() {
            vec![SupportedConeT::NonnegativeConeT(m)]
        } else {
            shape.2.iter().map(|&size| SupportedConeT::SecondOrderConeT(size as usize)).collect()
        };
        let settings = DefaultSettings {
            verbose: false,
            presolve_enable: false,
            input_sparse_dropzeros: !keep,
            tol_gap_abs: TOLERANCE,
            tol_gap_rel: TOLERANCE,
            tol_feas: TOLERANCE,
            ..DefaultSettings::default()
        };
        workspace.solver = DefaultSolver::new(&p, &linear, &rows, &right, &kinds, settings).ok();
        workspace.shape = shape;
    }
    let Some(solver) = workspace.solver.as_mut() else { return 0 };
    solver.solve();
    slice::from_raw_parts_mut(x, n).copy_from_slice(&solver.solution.x);
    matches!(solver.solution.status, SolverStatus::Solved) as i32
}
