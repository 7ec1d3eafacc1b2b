// The default image codec, over the optional peer dependency "sharp".
import sharp from "sharp";
import type { ImageCodec } from "./images/codec.ts";

/**
 * Reads sizes and makes smaller JPEGs with sharp; pictures of more than `maxPixels` are refused
 * before they are decoded.
 * @example
 * ```ts
 * import { createTranscriptPolicy } from "@clew/transcript-policy";
 * import { createSharpCodec } from "@clew/transcript-policy/sharp";
 *
 * const policy = createTranscriptPolicy({ imageCodec: createSharpCodec() });
 * console.log(Object.keys(policy));
 * ```
 *
 * ```text
 * [ 'sanitizeHistory', 'repairPairing', 'prepareOutbound' ]
 * ```
 */
export function createSharpCodec(): ImageCodec {
  return {
    async sizeOf(bytes) {
      const { width, height, orientation = 1 } = await sharp(bytes).metadata();
      // Orientations 5 to 8 lie on their side.
      return orientation >= 5 ? { width: height, height: width } : { width, height };
    },
    async toJpeg({ bytes, maxSide, quality, maxPixels }) {
      const picture = sharp(bytes, { limitInputPixels: maxPixels, failOn: "none" }).rotate();
      const resized = picture.resize({
        width: maxSide,
        height: maxSide,
        fit: "inside",
        withoutEnlargement: true,
      });
      return new Uint8Array(await resized.jpeg({ quality }).toBuffer());
    },
  };
}
