// Keeps the memory for young objects small while a gateway starts.
import { setFlagsFromString } from "node:v8";

/** Most of what is loaded stays: it would grow to 32 MB, which an idle gateway never needs. */
export const holdYoungSpace = (): void => setFlagsFromString("--semi-space-growth-factor=1");

/** Turns make many objects that live for a moment only: from now on it grows as they need it. */
export const letYoungSpaceGrow = (): void => setFlagsFromString("--semi-space-growth-factor=2");
