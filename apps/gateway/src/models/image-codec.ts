// The image library as the policy needs it, loaded when the first image comes: it is large.
import type { ImageCodec } from "@clew/transcript-policy";

/** Sizes and JPEGs by sharp. */
export function lazyImageCodec(): ImageCodec {
  let loading: Promise<ImageCodec> | undefined;
  const codec = () => {
    loading ??= import("@clew/transcript-policy/sharp").then(({ createSharpCodec }) =>
      createSharpCodec(),
    );
    return loading;
  };
  return {
    sizeOf: async (bytes) => (await codec()).sizeOf(bytes),
    toJpeg: async (request) => (await codec()).toJpeg(request),
  };
}
