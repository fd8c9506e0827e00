/** Japanese texts for the mail server. */
import type { mail as en } from "../en/mail.ts";
import type { Entry } from "../index.svelte.ts";

export const mail: Record<keyof typeof en, Entry> = {
  "settings.mail": "メール",
  "mail.intro": "招待とパスワード再設定用リンクは、お使いのメールサーバー（SMTP）から送信されます。",
  "mail.server": "メールサーバー",
  "mail.serverHint": "ポート {port} を使います。別のポートは末尾に付けてください：{example}",
  "mail.serverProblem": "smtp.example.org のようなホスト名を入力してください（ポートは省略可）。",
  "mail.security": "暗号化",
  "mail.security.starttls": "STARTTLS",
  "mail.security.tls": "TLS",
  "mail.security.none": "なし",
  "mail.clearText":
    "パスワードとリンクは暗号化されずに送信されます。同じマシンまたは同じネットワーク内のサーバーにのみ使ってください。",
  "mail.user": "ユーザー名",
  "mail.userHint": "サーバーがサインインを必要としない場合は空のままにします。",
  "mail.passwordProblem": "このユーザーのパスワードを入力してください。",
  "mail.from": "差出人",
  "mail.fromHint": "メールアドレス（名前は省略可）。",
  "mail.fromProblem": "ai@example.org や Glasshouse <ai@example.org> のようなアドレスを入力してください。",
  "mail.test": "テストメールを送信",
  "mail.testing": "送信中…",
  "mail.tested": "テストメールを {email} に送信しました。届いているか確認してください。",
  "mail.turnOff": "オフにする",
  "mail.turnedOff": "メールをオフにしました",
};
