// Compares a package's public API with its report in api/, or writes it with `--write`.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";

const write = process.argv.includes("--write");
const folder = process.cwd();
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
mkdirSync("api", { recursive: true });

let stale = false;
for (const [subpath, target] of Object.entries(manifest.exports)) {
  // A wildcard stands for one module per wire; their shape is the driver interface,
  // reported with the entry.
  if (typeof target === "string" || subpath.includes("*")) continue;
  const name = subpath === "." ? "index" : subpath.slice(2);
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: resolve("package.json"),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: resolve(target.types),
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: "NodeNext",
            moduleResolution: "NodeNext",
            target: "ES2022",
            lib: ["ES2023", "DOM"],
            types: ["node"],
            skipLibCheck: true,
          },
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: name,
        reportFolder: join(folder, "api"),
        reportTempFolder: join(folder, "dist", ".api"),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: "lf",
      messages: {
        compilerMessageReporting: { default: { logLevel: "none" } },
        extractorMessageReporting: { default: { logLevel: "none" } },
        tsdocMessageReporting: { default: { logLevel: "none" } },
      },
    },
  });
  const { apiReportChanged } = Extractor.invoke(config, {
    localBuild: write,
    showVerboseMessages: false,
    messageCallback: (message) => {
      message.handled = true;
    },
  });
  if (apiReportChanged && (!write || !existsSync(join("api", `${name}.api.md`)))) stale = true;
}
if (stale) {
  process.stderr.write(
    `the public API of ${basename(folder)} differs from api/; if that is meant, run \`pnpm run api\` and commit the report.\n`,
  );
  process.exit(1);
}
