import type { Options } from "tsup";

/** ESM only; declarations come from `tsc` (TypeScript 7 has no JavaScript API for tsup's dts). */
export const base: Options = {
  format: ["esm"],
  target: "node22",
  platform: "node",
  clean: true,
  sourcemap: true,
  dts: false,
  silent: true,
  // tsup strips "node:" by default, which breaks node:sqlite (there is no "sqlite" builtin).
  removeNodeProtocol: false,
};
