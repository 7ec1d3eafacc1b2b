// What counts as coming with Clew.
import { expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { writePlugin } from "../../testing/plugins.ts";
import { bundledFolders, bundledPlugins } from "./bundled.ts";

it("tells what comes with Clew by where it is, not by what it calls itself", async () => {
  const isBundled = bundledFolders();
  for (const folder of bundledPlugins()) expect(isBundled(folder)).toBe(true);
  const code = "export default { id: 'lossless', register() {} };";
  expect(isBundled(writePlugin(await temporaryHome(), { id: "lossless", code }))).toBe(false);
});
