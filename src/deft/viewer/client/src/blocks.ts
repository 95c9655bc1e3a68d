// Blocks of numbers: how a document carries them, and what the page makes of them.
export type Numbers = Float32Array | Uint32Array | Uint16Array | Uint8Array;

/** The block of a name. @throws Error if the document has none, or one that is not of its shape. */
export type ReadBlock = (name: string) => Numbers;

/** A block as the document has it. */
export interface Block {
  type: 'f4' | 'u4' | 'u2' | 'u1';
  shape: number[];
  data: string;
}

const kArrays = {f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array};

/** Little-endian numbers out of base64; every machine with a browser is little-endian. */
export function decodeBlock(name: string, block: Block | undefined): Numbers {
  if (!block) throw new Error(`The run has no block “${name}”: it was written by another version of deft.`);
  const text = atob(block.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const values = new kArrays[block.type](bytes.buffer);
  const expected = block.shape.reduce((product, n) => product * n, 1);
  if (values.length !== expected) {
    throw new Error(`Block “${name}” holds ${values.length} numbers, its shape says ${expected}.`);
  }
  return values;
}
