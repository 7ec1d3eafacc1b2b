// What OpenAI's apis take for the address of an image.
import { isBase64 } from "./json.ts";

const IMAGE_HEAD = /^data:image\/(?:jpeg|png|gif|webp);base64,/;

/** An address of the web, or one that holds the whole image. */
export function isImageUrl(url: string): boolean {
  if (/^https?:\/\//.test(url)) return true;
  const head = IMAGE_HEAD.exec(url)?.[0];
  if (head === undefined) return false;
  return head.length === url.length || isBase64(url.slice(head.length));
}
