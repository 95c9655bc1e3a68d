import {
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  InstancedMesh,
  Material,
  Matrix4,
  Quaternion,
  Scene,
  Vector3,
} from 'three';

const kZ = new Vector3(0, 0, 1);
const matrix = new Matrix4();
const quaternion = new Quaternion();
const scale = new Vector3();

/** The shaft of an arrow: radius 1, from the origin to 1 along z. */
export const shaftShape = (): BufferGeometry =>
  new CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0).rotateX(Math.PI / 2);
/** The head of an arrow, as large: its tip lies at 1 on z. */
export const headShape = (): BufferGeometry => new ConeGeometry(1, 1, 16).translate(0, 0.5, 0).rotateX(Math.PI / 2);

/** Many copies of one shape whose poses are set again on every frame; grows as needed. */
export class Instances {
  private mesh: InstancedMesh;
  private count = 0;

  constructor(
    private readonly scene: Scene,
    private readonly geometry: BufferGeometry,
    private readonly material: Material,
    private readonly renderOrder = 0,
  ) {
    this.mesh = this.allocate(64);
  }

  begin(): void {
    this.count = 0;
  }

  /** One copy at `position` with its z axis along `axis` (unit), scaled by `width` across and `length` along. */
  add(position: Vector3, axis: Vector3, width: number, length: number, colour: Color): void {
    this.addOriented(position, quaternion.setFromUnitVectors(kZ, axis), width, length, colour);
  }

  addOriented(position: Vector3, orientation: Quaternion, width: number, length: number, colour: Color): void {
    if (this.count === this.mesh.instanceMatrix.count) this.grow();
    matrix.compose(position, orientation, scale.set(width, width, length));
    this.mesh.setMatrixAt(this.count, matrix);
    this.mesh.setColorAt(this.count, colour);
    ++this.count;
  }

  end(): void {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  private allocate(capacity: number): InstancedMesh {
    const mesh = new InstancedMesh(this.geometry, this.material, capacity);
    mesh.setColorAt(0, new Color());
    mesh.frustumCulled = false;
    mesh.renderOrder = this.renderOrder;
    mesh.count = 0;
    this.scene.add(mesh);
    return mesh;
  }

  private grow(): void {
    const old = this.mesh;
    this.mesh = this.allocate(2 * old.instanceMatrix.count);
    this.mesh.instanceMatrix.array.set(old.instanceMatrix.array);
    this.mesh.instanceColor!.array.set(old.instanceColor!.array);
    this.scene.remove(old);
    old.dispose();
  }
}
