import {CylinderGeometry, Group, Mesh, MeshBasicMaterial} from 'three';
import {kAxes} from './palette';

/** The axes of a frame: red x, green y, blue z. */
export function axesOf(length: number): Group {
  const axes = new Group();
  kAxes.forEach(([, color], axis) => {
    const rod = new Mesh(new CylinderGeometry(0.03 * length, 0.03 * length, length, 8), new MeshBasicMaterial({color}));
    rod.position.setComponent(axis, length / 2);
    if (axis === 0) rod.rotation.z = -Math.PI / 2;
    if (axis === 2) rod.rotation.x = Math.PI / 2;
    axes.add(rod);
  });
  return axes;
}
