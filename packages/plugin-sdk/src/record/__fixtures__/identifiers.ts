// Realistic identifiers of many scripts and shapes.

/** Of ten scripts and shapes; each stands in a sentence, and must be kept whole. */
export const IDENTIFIERS = [
  ...[
    "src/组件/登录页面.tsx",
    "docs/отчёт_2024.txt",
    "src/café/menü.ts",
    "リソース/画像.png",
    "데이터/사용자.json",
  ],
  ...[
    "εργασία/σχέδιο.md",
    "ملفات/تقرير.pdf",
    "מסמכים/חוזה.docx",
    "फ़ाइल/सूची.csv",
    "เอกสาร/แผน.xlsx",
  ],
  ...["C:\\Users\\ana\\report.xlsx", "D:\\build\\out", "\\\\nas\\share\\plan.docx"],
  ...[
    "report.xlsx",
    "contract.docx",
    "train.ipynb",
    "Dockerfile",
    "Makefile",
    "main.zig",
    "router.ex",
  ],
  ...[
    "slides.pptx",
    "data.parquet",
    "build.gradle",
    "schema.graphql",
    "main.tf",
    ".gitignore",
    "App.svelte",
  ],
  ...[
    "jane@acme.io",
    "jürgen@müller.example",
    "localhost:5432",
    "10.2.33.4:8080",
    "db.internal:5432",
  ],
  ...[
    "CVE-2024-3094",
    "PROJ-17",
    "#4711",
    "RFC-9110",
    "ghcr.io/acme/app:1.2",
    "docker.io/library/redis:7-alpine",
  ],
  ...[
    "arn:aws:iam::123456789012:role/deploy",
    "https://example.com/a?b=1",
    "s3://bucket/key/part",
    "postgres://db/main",
  ],
  ...[
    "EADDRINUSE",
    "ENOENT",
    "MAX_RETRIES",
    "getUserById",
    "größteZahl",
    "_private_thing",
    "HTTPServer",
    "предел_строк",
  ],
  ...[
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "deadbee1",
    "v2.14.0",
    "10.2.33.4",
    "req_8f3kd92k",
    "OWZ4XL",
  ],
  ...["$dir/file.mod", "~/notes/today", "./scripts/run", "../shared/util.ts", "feature/x-1"],
];
/** Their shape alone says little: kept when a person says them. */
export const WEAK_IDENTIFIERS = [
  ...[
    "claude-opus-4-6",
    "web-7d4b9c6f5-x2x9k",
    "2024-05-17",
    "+49-30-1234567",
    "$1,234.50",
    "€19.99",
  ],
  ...["--max-old-space-size", "gpt-5.1-mini", "eu-central-1"],
];
