/** Simplified Chinese texts for the mail server. */
import type { mail as en } from "../en/mail.ts";
import type { Entry } from "../index.svelte.ts";

export const mail: Record<keyof typeof en, Entry> = {
  "settings.mail": "邮件",
  "mail.intro": "邀请和密码重置链接通过你自己的邮件服务器（SMTP）发送。",
  "mail.server": "邮件服务器",
  "mail.serverHint": "默认使用端口 {port}。如需其他端口，请写在后面：{example}",
  "mail.serverProblem": "请输入主机名，例如 smtp.example.org，可带端口。",
  "mail.security": "加密方式",
  "mail.security.starttls": "STARTTLS",
  "mail.security.tls": "TLS",
  "mail.security.none": "不加密",
  "mail.clearText": "密码和链接将以明文发送。仅适用于同一台机器或同一网络中的服务器。",
  "mail.user": "用户名",
  "mail.userHint": "如果服务器无需登录，请留空。",
  "mail.passwordProblem": "请输入该用户的密码。",
  "mail.from": "发件人",
  "mail.fromHint": "一个邮箱地址，可带名称。",
  "mail.fromProblem": "请输入地址，例如 ai@example.org 或 Glasshouse <ai@example.org>。",
  "mail.test": "发送测试邮件",
  "mail.testing": "正在发送…",
  "mail.tested": "测试邮件已发送至 {email}。请确认是否收到。",
  "mail.turnOff": "关闭",
  "mail.turnedOff": "邮件已关闭",
};
