import {Box3, Color, DirectionalLight, HemisphereLight, MathUtils, Object3D, PCFShadowMap, PerspectiveCamera, Scene, Sphere, Vector3,
        WebGLRenderer} from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';
import {cssColour} from './dom';

Object3D.DEFAULT_UP.set(0, 0, 1);

/** Canvas, camera and lights. Draws on demand, in two passes: the bodies, then what must be seen through them. */
export class Stage {
  readonly scene = new Scene();
  readonly overlay = new Scene();
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 100);
  readonly canvas: HTMLCanvasElement;
  readonly controls: OrbitControls;
  private readonly renderer: WebGLRenderer;
  private readonly sun = new DirectionalLight(0xffffff, 2.1);
  private readonly sky = new HemisphereLight(0xffffff, 0x8a8f98, 1.7);
  private readonly beforeDraw: (() => void)[] = [];
  private readonly afterDraw: (() => void)[] = [];
  private focus = new Sphere(new Vector3(), 1);
  private homeDirection = new Vector3(1, -1.5, 0.9).normalize();
  private scheduled = false;

  /** @throws Error if the browser has no WebGL. */
  constructor(private readonly host: HTMLElement, signal: AbortSignal) {
    this.renderer = new WebGLRenderer({antialias: true});
    this.renderer.autoClear = false;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'The scene in 3-D. Drag to turn, right-drag to move, wheel to zoom; keys: press ?');
    host.prepend(this.canvas);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.scene.add(this.sky, this.sun, this.sun.target);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener('change', () => this.invalidate());
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(host);
    signal.addEventListener('abort', () => {
      observer.disconnect();
      this.controls.dispose();
      this.renderer.dispose();
      this.canvas.remove();
    });
    this.resize();
  }

  /** Called before every drawing, with the camera final, and after it. */
  onDraw(before: () => void, after: () => void): void { this.beforeDraw.push(before); this.afterDraw.push(after); }

  /** World length of one pixel at a point's distance. */
  pixelSize(at: Vector3): number {
    const depth = at.distanceTo(this.camera.position);
    return (2 * depth * Math.tan(MathUtils.degToRad(this.camera.fov / 2))) / Math.max(1, this.host.clientHeight);
  }

  invalidate(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => { if (this.scheduled) this.draw(); });
  }

  draw(): void {
    this.scheduled = false;
    for (const f of this.beforeDraw) f();
    this.renderer.clear();
    this.renderer.render(this.scene, this.camera);
    this.renderer.clearDepth();
    this.renderer.render(this.overlay, this.camera);
    for (const f of this.afterDraw) f();
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
    this.homeDirection.copy(direction).normalize();
    const {center, radius} = this.focus;
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).addScaledVector(new Vector3(0.55, -0.75, 1.6).normalize(), 6 * radius);
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

  get radius(): number { return this.focus.radius; }
  get center(): Vector3 { return this.focus.center; }
  lookHome(): void { this.lookFrom(this.homeDirection); }

  look(side: 'front' | 'side' | 'top'): void {
    this.lookFrom({front: new Vector3(0, -1, 0), side: new Vector3(1, 0, 0), top: new Vector3(0, -1e-3, 1)}[side].normalize());
  }

  lookFrom(direction: Vector3): void {
    const half = MathUtils.degToRad(this.camera.fov / 2);
    const narrow = Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
    this.controls.target.copy(this.focus.center);
    this.camera.position.copy(this.focus.center).addScaledVector(direction, (1.02 * this.focus.radius) / Math.sin(narrow));
    this.controls.update();
    this.invalidate();
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
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }
}
