// What the image pass needs of an image library.

/** Pixels. */
export interface ImageSize {
  /** Pixels. */
  width: number;
  /** Pixels. */
  height: number;
}

/**
 * Joined by the host; `@clew/transcript-policy/sharp` is one. Both methods throw when they cannot
 * read the image.
 */
export interface ImageCodec {
  /** Width and height in pixels, read without decoding the picture. */
  sizeOf(bytes: Uint8Array): Promise<ImageSize>;
  /**
   * A JPEG whose longer side is at most `maxSide` pixels; never enlarged, aspect kept. Refuses more
   * than `maxPixels` of input.
   */
  toJpeg(request: {
    bytes: Uint8Array;
    maxSide: number;
    quality: number;
    maxPixels: number;
  }): Promise<Uint8Array>;
}

/** What an image may measure before it is made smaller, and how much may be decoded for that. */
export interface ImageLimits {
  /** Longest side in pixels; `agents.defaults.imageMaxDimensionPx`. */
  maxDimensionPx: number;
  /** Bytes after base64 decoding. */
  maxBytes: number;
  /** Width times height; more is taken for a decompression bomb and refused. */
  maxPixels: number;
}

/** 1200 pixels, 5 MiB, 25 megapixels. */
export const DEFAULT_IMAGE_LIMITS = {
  maxDimensionPx: 1200,
  maxBytes: 5 * 1024 * 1024,
  maxPixels: 25_000_000,
} as const satisfies ImageLimits;

export function completeLimits(limits: Partial<ImageLimits> = {}): ImageLimits {
  const { maxDimensionPx, maxBytes, maxPixels } = { ...DEFAULT_IMAGE_LIMITS, ...limits };
  return { maxDimensionPx: Math.max(1, Math.floor(maxDimensionPx)), maxBytes, maxPixels };
}
