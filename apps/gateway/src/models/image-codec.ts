// Loads the image library when the first image comes, if it is installed.
import { createRequire } from "node:module";
import type { ImageCodec } from "@clew/transcript-policy";

/**
 * Sizes and JPEGs by sharp; nothing when this optional dependency was left out or has no build
 * here.
 */
export function installedImageCodec(): { imageCodec?: ImageCodec } {
  if (!isInstalled("sharp")) return {};
  let loading: Promise<ImageCodec> | undefined;
  const codec = () => {
    loading ??= import("@clew/transcript-policy/sharp").then(({ createSharpCodec }) =>
      createSharpCodec(),
    );
    return loading;
  };
  return {
    imageCodec: {
      sizeOf: async (bytes) => (await codec()).sizeOf(bytes),
      toJpeg: async (request) => (await codec()).toJpeg(request),
    },
  };
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
