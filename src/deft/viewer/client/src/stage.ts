import {
  Box3,
  Color,
  DirectionalLight,
  HemisphereLight,
  MathUtils,
  Object3D,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  Sphere,
  Vector3,
  WebGLRenderer,
} from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';
import {cssColour} from './dom';

Object3D.DEFAULT_UP.set(0, 0, 1);

const kFill = 0.86; // part of the picture that what moves fills at home

const kCalm = 250; // [ms] without a change before a software renderer takes the time for a fine picture

/** Whether the browser draws without a GPU; then smooth edges and shadows cost a second per picture rather than
 *  nothing. */
function drawsInSoftware(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) return false;
  const named = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** Canvas, camera and lights. Draws on demand, in two passes: the bodies, then what must be seen through them.
 *  Without a GPU it draws coarsely while something moves, and finely (smooth edges, shadows) once it is calm. */
export class Stage {
  readonly scene = new Scene();
  readonly overlay = new Scene();
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 100);
  readonly canvas: HTMLCanvasElement;
  readonly controls: OrbitControls;
  private readonly renderer: WebGLRenderer;
  private readonly sun = new DirectionalLight(0xffffff, 1.5);
  private readonly sky = new HemisphereLight(0xffffff, 0x9aa0a8, 1.6);
  // Moves with the camera: what faces the reader is never dark.
  private readonly fillLight = new DirectionalLight(0xffffff, 0.8);
  private readonly beforeDraw: (() => void)[] = [];
  private readonly afterDraw: (() => void)[] = [];
  private focus = new Sphere(new Vector3(), 1);
  private corners: Vector3[] = [];
  private homeDirection = new Vector3(1, -1.5, 0.9).normalize();
  private followed: Vector3 | null = null;
  private scheduled = false;
  private readonly software = drawsInSoftware();
  private fine = true;
  private calm = 0;

  /** @throws Error if the browser has no WebGL. */
  constructor(
    private readonly host: HTMLElement,
    signal: AbortSignal,
  ) {
    this.renderer = new WebGLRenderer({antialias: !this.software});
    this.renderer.autoClear = false;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute(
      'aria-label',
      'The scene in 3-D. Drag to turn, right-drag to move, wheel to zoom; keys: press ?',
    );
    host.prepend(this.canvas);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.scene.add(this.sky, this.sun, this.sun.target, this.fillLight, this.fillLight.target);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener('change', () => this.invalidate());
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(host);
    signal.addEventListener('abort', () => {
      clearTimeout(this.calm);
      observer.disconnect();
      this.controls.dispose();
      this.renderer.dispose();
      this.canvas.remove();
    });
    this.resize();
  }

  /** Called before every drawing, with the camera final, and after it. */
  onDraw(before: () => void, after: () => void): void {
    this.beforeDraw.push(before);
    this.afterDraw.push(after);
  }

  /** World length of one pixel at a point's distance. */
  pixelSize(at: Vector3): number {
    const depth = at.distanceTo(this.camera.position);
    return (2 * depth * Math.tan(MathUtils.degToRad(this.camera.fov / 2))) / Math.max(1, this.host.clientHeight);
  }

  invalidate(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      if (this.scheduled) this.draw();
    });
  }

  draw(): void {
    clearTimeout(this.calm);
    if (this.software) this.calm = window.setTimeout(() => this.render(true), kCalm);
    this.render(!this.software);
  }

  /** Nothing finer is to come. */
  get settled(): boolean {
    return this.fine && !this.scheduled;
  }

  private render(fine: boolean): void {
    this.scheduled = false;
    if (fine !== this.fine) this.setFine(fine);
    this.fillLight.position.copy(this.camera.position);
    this.fillLight.target.position.copy(this.controls.target);
    for (const f of this.beforeDraw) f();
    this.renderer.clear();
    this.renderer.render(this.scene, this.camera);
    this.renderer.clearDepth();
    this.renderer.render(this.overlay, this.camera);
    for (const f of this.afterDraw) f();
  }

  private setFine(fine: boolean): void {
    this.fine = fine;
    this.sun.castShadow = fine;
    this.renderer.setPixelRatio(fine ? (this.software ? 2 : Math.min(devicePixelRatio, 2)) : 1);
  }

  applyTheme(): void {
    this.scene.background = null;
    this.renderer.setClearColor(new Color(cssColour('--view')), 1);
    this.invalidate();
  }

  /** What the camera looks at by default, and from where. */
  setHome(box: Box3, direction: Vector3): void {
    box.getBoundingSphere(this.focus);
    this.focus.radius = Math.max(this.focus.radius, 1e-3);
    this.corners = [0, 1, 2, 3, 4, 5, 6, 7].map(
      (i) => new Vector3((i & 1 ? box.max : box.min).x, (i & 2 ? box.max : box.min).y, (i & 4 ? box.max : box.min).z),
    );
    this.homeDirection.copy(direction).normalize();
    const {center, radius} = this.focus;
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).addScaledVector(new Vector3(-0.8, -0.45, 1.6).normalize(), 6 * radius);
    const frustum = this.sun.shadow.camera;
    frustum.left = frustum.bottom = -2 * radius;
    frustum.right = frustum.top = 2 * radius;
    frustum.near = radius;
    frustum.far = 14 * radius;
    frustum.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.01 * radius;
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.radius = 3;
    this.camera.near = 0.01 * radius;
    this.camera.far = 80 * radius;
    this.controls.maxDistance = 40 * radius;
    this.lookFrom(this.homeDirection);
  }

  /** From where the camera looks at home: unit, from the middle of the scene. */
  get homeView(): Vector3 {
    return this.homeDirection;
  }
  get radius(): number {
    return this.focus.radius;
  }
  get center(): Vector3 {
    return this.focus.center;
  }
  lookHome(): void {
    this.resize(); // the page may have been laid out since
    this.lookFrom(this.homeDirection);
  }

  look(side: 'front' | 'side' | 'top'): void {
    this.lookFrom(
      {front: new Vector3(0, -1, 0), side: new Vector3(1, 0, 0), top: new Vector3(0, -1e-3, 1)}[side].normalize(),
    );
  }

  /** From a direction, as near as the box of what moves allows, that box in the middle of the picture. */
  lookFrom(direction: Vector3): void {
    const {camera, controls, focus} = this;
    const half = Math.tan(MathUtils.degToRad(camera.fov / 2));
    let distance = (1.1 * focus.radius) / half;
    controls.target.copy(focus.center);
    for (let round = 0; round < 4; ++round) {
      camera.position.copy(controls.target).addScaledVector(direction, distance);
      camera.lookAt(controls.target);
      camera.updateMatrixWorld();
      const seen = new Box3().setFromPoints(this.corners.map((p) => p.clone().project(camera)));
      const middle = seen.getCenter(new Vector3());
      const right = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0),
        up = new Vector3().setFromMatrixColumn(camera.matrixWorld, 1);
      controls.target
        .addScaledVector(right, middle.x * half * camera.aspect * distance)
        .addScaledVector(up, middle.y * half * distance);
      const size = seen.getSize(new Vector3());
      distance = Math.max(0.2 * focus.radius, (distance * Math.max(size.x, size.y)) / 2 / kFill);
    }
    camera.position.copy(controls.target).addScaledVector(direction, distance);
    controls.update();
    this.invalidate();
  }

  /** Brings the camera to a point, from where it looks now, so that a body of that radius fills most of the picture. */
  lookAt(point: Vector3, radius: number): void {
    const direction = this.camera.position.clone().sub(this.controls.target).normalize();
    const distance = (1.6 * Math.min(radius, this.focus.radius)) / Math.tan(MathUtils.degToRad(this.camera.fov / 2));
    this.controls.target.copy(point);
    this.camera.position.copy(point).addScaledVector(direction, distance);
    this.controls.update();
    this.invalidate();
  }

  /** Goes along with a point that moves: call it for every place of that point; null lets go. */
  follow(point: Vector3 | null): void {
    if (point && this.followed) {
      const way = point.clone().sub(this.followed);
      this.controls.target.add(way);
      this.camera.position.add(way);
      this.controls.update();
    }
    this.followed = point?.clone() ?? null;
  }

  /** Turns the camera about its target [rad] and scales its distance. */
  orbit(left: number, up: number, zoom: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.applyAxisAngle(Object3D.DEFAULT_UP, left);
    const side = new Vector3().crossVectors(Object3D.DEFAULT_UP, offset).normalize();
    const elevation = Math.asin(MathUtils.clamp(offset.z / offset.length(), -1, 1));
    offset.applyAxisAngle(side, elevation - MathUtils.clamp(elevation + up, -1.5, 1.5));
    this.camera.position.copy(this.controls.target).addScaledVector(offset, zoom);
    this.controls.update();
    this.invalidate();
  }

  private resize(): void {
    const {clientWidth: width, clientHeight: height} = this.host;
    if (width === 0 || height === 0) return;
    this.setFine(this.fine);
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }
}
