import type { PackageSpec } from "./package-spec.ts";

/** Modules whose package has another name. */
const NAMES: Readonly<Record<string, string>> = {
  Crypto: "pycryptodome",
  Cryptodome: "pycryptodomex",
  OpenSSL: "pyopenssl",
  PIL: "pillow",
  MySQLdb: "mysqlclient",
  airtable: "airtable-python-wrapper",
  apiclient: "google-api-python-client",
  atlassian: "atlassian-python-api",
  attr: "attrs",
  bs4: "beautifulsoup4",
  bson: "pymongo",
  cairosvg: "cairosvg",
  cv2: "opencv-python-headless",
  dateutil: "python-dateutil",
  discord: "discord-py",
  docx: "python-docx",
  docx2txt: "docx2txt",
  dotenv: "python-dotenv",
  facebook_business: "facebook-business",
  fitz: "pymupdf",
  flask_cors: "flask-cors",
  git: "gitpython",
  github: "pygithub",
  gitlab: "python-gitlab",
  googleapiclient: "google-api-python-client",
  google_auth_httplib2: "google-auth-httplib2",
  google_auth_oauthlib: "google-auth-oauthlib",
  "google.ads": "google-ads",
  "google.ai.generativelanguage": "google-ai-generativelanguage",
  "google.analytics.data": "google-analytics-data",
  "google.api_core": "google-api-core",
  "google.auth": "google-auth",
  "google.cloud.bigquery": "google-cloud-bigquery",
  "google.cloud.firestore": "google-cloud-firestore",
  "google.cloud.language": "google-cloud-language",
  "google.cloud.logging": "google-cloud-logging",
  "google.cloud.pubsub": "google-cloud-pubsub",
  "google.cloud.pubsub_v1": "google-cloud-pubsub",
  "google.cloud.secretmanager": "google-cloud-secret-manager",
  "google.cloud.speech": "google-cloud-speech",
  "google.cloud.storage": "google-cloud-storage",
  "google.cloud.texttospeech": "google-cloud-texttospeech",
  "google.cloud.translate": "google-cloud-translate",
  "google.cloud.vision": "google-cloud-vision",
  "google.genai": "google-genai",
  "google.generativeai": "google-generativeai",
  "google.oauth2": "google-auth",
  "google.protobuf": "protobuf",
  grpc: "grpcio",
  hubspot: "hubspot-api-client",
  ics: "ics",
  jose: "python-jose",
  jwt: "pyjwt",
  kafka: "kafka-python",
  ldap: "python-ldap",
  magic: "python-magic",
  mailchimp_marketing: "mailchimp-marketing",
  mailchimp_transactional: "mailchimp-transactional",
  memcache: "python-memcached",
  msal: "msal",
  multipart: "python-multipart",
  mysql: "mysql-connector-python",
  nacl: "pynacl",
  notion_client: "notion-client",
  odf: "odfpy",
  paho: "paho-mqtt",
  pkg_resources: "setuptools",
  pptx: "python-pptx",
  psycopg2: "psycopg2-binary",
  pyexiv2: "pyexiv2",
  pygsheets: "pygsheets",
  pythoncom: "pywin32",
  pytz: "pytz",
  requests_oauthlib: "requests-oauthlib",
  requests_toolbelt: "requests-toolbelt",
  "ruamel.yaml": "ruamel-yaml",
  sendgrid: "sendgrid",
  serial: "pyserial",
  shopify: "shopifyapi",
  sklearn: "scikit-learn",
  skimage: "scikit-image",
  slack: "slackclient",
  slack_bolt: "slack-bolt",
  slack_sdk: "slack-sdk",
  slugify: "python-slugify",
  snowflake: "snowflake-connector-python",
  socks: "pysocks",
  speech_recognition: "speechrecognition",
  telebot: "pytelegrambotapi",
  telegram: "python-telegram-bot",
  todoist_api_python: "todoist-api-python",
  usb: "pyusb",
  websocket: "websocket-client",
  wx: "wxpython",
  xlib: "python-xlib",
  yaml: "pyyaml",
  youtube_dl: "youtube-dl",
  youtube_transcript_api: "youtube-transcript-api",
  yt_dlp: "yt-dlp",
  zmq: "pyzmq",
};

/** Namespaces of many packages: `azure.storage.blob` is in `azure-storage-blob`. */
const SHARED_TOPS: ReadonlySet<string> = new Set(["azure", "google"]);

/** PEP 508 without URLs, paths and options. */
const REQUIREMENT = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*((?:\[[\w\s,.-]*\])?\s*(?:\(?\s*(?:[<>=!~]=?=?)[^;@]*)?(?:;.*)?)$/;

/** PEP 503. */
export function distributionName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

/** Accepts names below a module, such as `google.cloud.storage.Blob`. */
export function distributionOf(module: string): string {
  const parts = module.split(".");
  for (let count = parts.length; count > 0; count--) {
    const known = NAMES[parts.slice(0, count).join(".")];
    if (known !== undefined) return known;
  }
  const [top = module] = parts;
  const own = SHARED_TOPS.has(top) ? parts.slice(0, 3) : [top];
  return distributionName(own.join("-"));
}

/** Undefined for URLs, paths and options. */
export function readRequirement(text: string, importedAt: string): PackageSpec | undefined {
  // Some comments contain the whole command.
  const [, name, rest = ""] = REQUIREMENT.exec(text.trim().replace(/^pip3? install /, "")) ?? [];
  if (name === undefined) return undefined;
  const range = rest.trim();
  return { name: distributionName(name), ...(range === "" ? {} : { range }), importedAt };
}

export function requirementText({ name, range = "" }: Pick<PackageSpec, "name" | "range">): string {
  return `${name}${range}`;
}
