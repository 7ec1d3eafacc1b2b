// Packs what a part of a request says, and reads parts of every kind.
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

const [pack, unpack] = [promisify(gzip), promisify(gunzip)];

/** More is none of ours. */
const MOST_BYTES = 512 * 2 ** 20;
/** What a packed one begins with: no text does. */
const MAGIC = Buffer.from([0x1f, 0x8b]);

/** As it is, where packing makes it no smaller. */
export async function packPart(content: string): Promise<Buffer> {
  const plain = Buffer.from(content);
  const packed = await pack(plain, { level: 9 });
  return packed.length < plain.length ? packed : plain;
}

/** Parts of earlier releases are what they say. Rejects where it is not as it was written. */
export async function unpackPart(bytes: Buffer): Promise<string> {
  const isPacked = bytes.subarray(0, MAGIC.length).equals(MAGIC);
  const plain = isPacked ? await unpack(bytes, { maxOutputLength: MOST_BYTES }) : bytes;
  return plain.toString("utf8");
}
