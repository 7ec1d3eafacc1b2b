import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** What a program prints in which tiktoken cannot be found. */
function printed(code: string): string {
  const program = `
    import { registerHooks } from "node:module";
    registerHooks({
      resolve(specifier, context, next) {
        return next(specifier === "tiktoken" ? "not-installed-tiktoken" : specifier, context);
      },
    });
    const { loadExactCounter, estimateText } = await import(${JSON.stringify(join(import.meta.dirname, "../tokens.ts"))});
    ${code}
  `;
  const args = ["--conditions=@clew/source", "--input-type=module", "--eval", program];
  return execFileSync(process.execPath, args, { encoding: "utf8" }).trim();
}

describe("where tiktoken is not installed", () => {
  it("everything else of the module works, and exact counts are refused by a sentence", () => {
    const said = printed(`
      console.log(estimateText("hello").estimate > 0);
      await loadExactCounter().catch((error) => console.log(error.message));
    `);
    expect(said).toMatch(/^true\nExact token counts need the package "tiktoken", which is not/);
  });

  it("estimates stand in for those who want to be told, and call themselves estimates", () => {
    const said = printed(`
      const counter = await loadExactCounter({ onMissing: console.log });
      console.log(counter.id, counter.count("hello") === estimateText("hello").estimate);
      counter.free();
    `);
    expect(said).toMatch(/not installed.*Counts are estimates now\.\nestimate true$/);
  });
});
