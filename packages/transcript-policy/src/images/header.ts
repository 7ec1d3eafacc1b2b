// Reads an image's kind and size from its first bytes, without decoding it.
import type { ImageSize } from "./codec.ts";

export interface ImageHeader {
  mimeType: string;
  /** Pixels; absent when the header does not say, or is cut off. */
  size?: ImageSize;
}

/** Kind and size of a PNG, JPEG, GIF, WebP, BMP or HEIF; undefined for anything else. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47]))
    return sized(
      "image/png",
      view.byteLength >= 24 ? [view.getUint32(16), view.getUint32(20)] : undefined,
    );
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return sized("image/jpeg", jpegSize(view));
  if (asciiAt(bytes, 0, "GIF8"))
    return sized(
      "image/gif",
      view.byteLength >= 10 ? [view.getUint16(6, true), view.getUint16(8, true)] : undefined,
    );
  if (asciiAt(bytes, 0, "RIFF") && asciiAt(bytes, 8, "WEBP"))
    return sized("image/webp", webpSize(bytes, view));
  if (asciiAt(bytes, 0, "BM"))
    return sized(
      "image/bmp",
      view.byteLength >= 26
        ? [Math.abs(view.getInt32(18, true)), Math.abs(view.getInt32(22, true))]
        : undefined,
    );
  if (asciiAt(bytes, 4, "ftyp") && HEIF_BRANDS.some((brand) => asciiAt(bytes, 8, brand)))
    return { mimeType: "image/heic" };
  return undefined;
}

// Other files of the same family (videos, say) start alike.
const HEIF_BRANDS = ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"];

const sized = (mimeType: string, size: readonly [number, number] | undefined): ImageHeader =>
  size === undefined || size[0] === 0 || size[1] === 0
    ? { mimeType }
    : { mimeType, size: { width: size[0], height: size[1] } };

const startsWith = (bytes: Uint8Array, prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => bytes[index] === byte);

const asciiAt = (bytes: Uint8Array, offset: number, text: string): boolean =>
  [...text].every((character, index) => bytes[offset + index] === character.charCodeAt(0));

/** Walks the segments of a JPEG to its frame header. */
function jpegSize(view: DataView): [number, number] | undefined {
  let offset = 2;
  while (offset + 9 < view.byteLength) {
    if (view.getUint8(offset) !== 0xff) return undefined;
    const marker = view.getUint8(offset + 1);
    // SOF0 to SOF15 hold the size; C4, C8 and CC are tables.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return [view.getUint16(offset + 7), view.getUint16(offset + 5)];
    offset += marker === 0xff ? 1 : 2 + view.getUint16(offset + 2);
  }
  return undefined;
}

function webpSize(bytes: Uint8Array, view: DataView): [number, number] | undefined {
  if (view.byteLength < 30) return undefined;
  if (asciiAt(bytes, 12, "VP8 "))
    return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  if (asciiAt(bytes, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  if (!asciiAt(bytes, 12, "VP8X")) return undefined;
  const uint24 = (offset: number) =>
    view.getUint16(offset, true) + (view.getUint8(offset + 2) << 16);
  return [uint24(24) + 1, uint24(27) + 1];
}
