// Tells an operator when large images cannot be made smaller.
import type { ImageCodec } from "@clew/transcript-policy";
import { installedImageCodec } from "../models/image-codec.ts";
import type { Finding } from "./finding.ts";

/** Nothing to say where the image library is installed. */
export function checkImages(found: { imageCodec?: ImageCodec } = installedImageCodec()): Finding[] {
  if (found.imageCodec !== undefined) return [];
  return [
    {
      level: "note",
      code: "images-not-reduced",
      subject: "images",
      text:
        "sharp is not installed, so the model gets a line of text in place of an image that is " +
        "too large; install the gateway again without leaving out optional packages",
    },
  ];
}
