// Base64 as providers accept it, without any platform's own helpers.

const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/;

/** True for the standard alphabet, with the padding its length asks for. */
export const isBase64 = (text: string): boolean => text.length % 4 === 0 && STANDARD.test(text);

/** Number of bytes a valid base64 text stands for. */
export const decodedLength = (text: string): number =>
  (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);

export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

// As many bytes at a time as a call may have arguments, and a multiple of three so that pieces
// join.
const CHUNK = 0x6000;

export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(start, start + CHUNK))));
  return pieces.join("");
}
