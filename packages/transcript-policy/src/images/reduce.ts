// Makes an image smaller until it may be sent.
import { decodeBase64, encodeBase64 } from "./base64.ts";
import type { ImageCodec, ImageLimits, ImageSize } from "./codec.ts";

const SIDES = [1800, 1600, 1400, 1200, 1000, 800];
const QUALITIES = [85, 75, 65, 55, 45, 35];

export type Reduction = { ok: true; data: string } | { ok: false; reason: string };

/** The sides to try for an image whose longer side is `side`, longest first. */
export function planSides(side: number, max: number): number[] {
  const sides = [Math.min(max, side), ...SIDES].map((candidate) => Math.min(candidate, max));
  return [...new Set(sides)].toSorted((left, right) => right - left);
}

/** The first JPEG that is small enough, as base64, or why there is none. */
export async function reduceImage(
  data: string,
  size: ImageSize | undefined,
  limits: ImageLimits,
  codec: ImageCodec | undefined,
): Promise<Reduction> {
  const bytes = decodeBase64(data);
  let smallest = bytes.byteLength;
  if (codec === undefined || size === undefined || size.width * size.height > limits.maxPixels)
    return tooLarge(limits, smallest);
  for (const maxSide of planSides(Math.max(size.width, size.height), limits.maxDimensionPx)) {
    for (const quality of QUALITIES) {
      const jpeg = await tryJpeg(codec, { bytes, maxSide, quality, maxPixels: limits.maxPixels });
      if (jpeg === undefined) return tooLarge(limits, smallest);
      if (jpeg.byteLength <= limits.maxBytes) return { ok: true, data: encodeBase64(jpeg) };
      smallest = Math.min(smallest, jpeg.byteLength);
    }
  }
  return tooLarge(limits, smallest);
}

/** Undefined when the library cannot read the image: then no other size will do either. */
async function tryJpeg(
  codec: ImageCodec,
  request: Parameters<ImageCodec["toJpeg"]>[0],
): Promise<Uint8Array | undefined> {
  try {
    return await codec.toJpeg(request);
  } catch {
    return undefined;
  }
}

const MEGABYTE = 1024 * 1024;

function tooLarge({ maxBytes }: ImageLimits, got: number): Reduction {
  const limit = `${(maxBytes / MEGABYTE).toFixed(0)}MB`;
  return {
    ok: false,
    reason: `Error: Image could not be reduced below ${limit} (got ${(got / MEGABYTE).toFixed(2)}MB)`,
  };
}
