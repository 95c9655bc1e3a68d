// What a run takes place in: bodies, their shapes and poses, goals, settings; see ../../README.md.
export type Pose = ArrayLike<number>; // [qw, qx, qy, qz, x, y, z]

export type Shape =
  | {type: 'sphere'; radius: number}
  | {type: 'box'; size: number[]}
  | {type: 'capsule' | 'cylinder'; radius: number; length: number}
  | {type: 'ellipsoid'; radii: number[]}
  | {type: 'half_space'; normal: number[]; offset: number}
  | {type: 'mesh'; vertices: number[]; triangles: number[]; colors?: number[]};

/** How a limit surface is described (viewer/visual_json.hpp): an ellipsoid, or loads on a grid of twists. */
export interface SurfaceSpec {
  axes: number[];
  ellipsoid?: number[];
  gyration?: number;
  columns?: number;
  loads?: number[];
}

export interface Geometry {
  X_BG: number[];
  rgba?: number[];
  shape: Shape;
}

export type Role = 'world' | 'robot' | 'object' | 'fixed';

export interface Body {
  name: string;
  role: Role;
  visuals: Geometry[];
  collisions: Geometry[];
  limit_surface?: SurfaceSpec;
}

export interface Goal {
  name: string;
  bodies: {body: number; X_WB: number[]}[];
}

export interface Settings {
  h?: number | null;
  model?: string | null;
  cone?: string | null;
  rays?: number | null;
  kappa?: number | string | null;
  contact_margin?: number | string | null;
  replan?: number[] | null;
  tolerance?: number[] | null; // of runs that follow a plan [m, rad]
}

export interface Scene {
  name?: string;
  plane?: 'xy' | 'xz' | 'yz' | null;
  settings: Settings;
  bodies: Body[];
  goals: Goal[];
}
