// A plugin that imports the entry helper and nothing else.
import { definePluginEntry } from "../../core.ts";

export default definePluginEntry({ id: "x", name: "X", register() {} });
