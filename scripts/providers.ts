// Writes into the guides which providers and wires there are.
import { readFileSync } from "node:fs";
import { PROVIDERS } from "../packages/plugin-sdk/src/host.ts";
import { driverFiles } from "./drivers.ts";

/** The operator guide with its table of providers rewritten: those that a driver can speak to. */
export function providersGuide(): { path: string; text: string } {
  const path = "docs/operator-guide.md";
  const spoken = new Set(driverFiles().map(({ api }) => api));
  const rows = PROVIDERS.filter(({ apis }) => apis.some((api) => spoken.has(api))).map(
    ({ id, models, baseUrl, needsKey }) => {
      const address = models !== undefined ? "none: it runs in Clew" : (baseUrl ?? "yours to set");
      const keys = needsKey?.map((name) => `\`${name}\``).join(" or ") ?? "none";
      return `| \`${id}\` | ${address} | ${keys} |`;
    },
  );
  const table = ["| provider | address | key |", "| --- | --- | --- |", ...rows].join("\n");
  const text = readFileSync(path, "utf8").replace(
    /(<!-- providers: [^>]*-->\n).*?(\n<!-- end of providers -->)/s,
    (_, start: string, end: string) => `${start}${table}${end}`,
  );
  return { path, text };
}

/** The README of the providers with its list of wires rewritten. */
export function wiresReadme(): { path: string; text: string } {
  const path = "packages/providers/README.md";
  const apis = driverFiles().map(({ api }) => `\`${api}\``);
  const text = readFileSync(path, "utf8").replace(
    /(<!-- wires: [^>]*-->\n).*?(\n<!-- end of wires -->)/s,
    (_, start: string, end: string) => `${start}${apis.map((api) => `- ${api}`).join("\n")}${end}`,
  );
  return { path, text };
}
