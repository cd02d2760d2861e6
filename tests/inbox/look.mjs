// scratch
import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
const server = spawn("/work/wt/inbox.target/debug/fixtures", ["--http","127.0.0.1:0","--token","alice=wonderland","--inbox"], {stdio:["ignore","inherit","pipe"]});
process.on("exit",()=>server.kill());
const url = await new Promise(r=>createInterface({input:server.stderr}).on("line",l=>{console.error(l); const u=/listening on (http:\S+)\/mcp/.exec(l)?.[1]; if(u) r(u)}));
let n=0;
const call = async (name,args={})=>{
 const r = await fetch(url+"/mcp",{method:"POST",headers:{"content-type":"application/json",accept:"application/json, text/event-stream",authorization:"Bearer wonderland","mcp-protocol-version":"2026-07-28","mcp-method":"tools/call","mcp-name":name},body:JSON.stringify({jsonrpc:"2.0",id:++n,method:"tools/call",params:{name,arguments:args,_meta:{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{elicitation:{form:{},url:{}},extensions:{"io.modelcontextprotocol/tasks":{}}}}}})});
 const j=await r.json(); if(!j.result) console.error(JSON.stringify(j)); return j.result;
};
await call("form"); await call("open_url"); await call("choose"); await call("confirm"); 
const browser = await chromium.launch({executablePath:"/usr/bin/chromium",args:["--no-sandbox","--disable-gpu","--disable-quic","--no-first-run","--disable-background-networking","--disable-component-update","--disable-sync"]});
const shot = async (name, opts, f)=>{ const ctx=await browser.newContext({httpCredentials:{username:"x",password:"wonderland"},...opts}); const p=await ctx.newPage(); p.on("console",m=>console.error(name,"console",m.type(),m.text())); p.on("pageerror",e=>console.error(name,"pageerror",e)); p.on("request",r=>{ if(!r.url().startsWith(url)) console.error("third party",r.url())}); await p.goto(url+"/inbox"); await p.waitForTimeout(500); if(f) await f(p); await p.screenshot({path:`/tmp/shots/${name}.png`,fullPage:true}); await ctx.close(); };
await shot("desktop",{viewport:{width:1100,height:800}});
await shot("narrow",{viewport:{width:320,height:700}, colorScheme:"light"});
await shot("dark",{viewport:{width:900,height:800},colorScheme:"dark"});
await shot("error",{viewport:{width:900,height:800}}, async p=>{
  const form = p.locator("article",{has:p.locator("h2",{hasText:/^form$/})}); await form.getByLabel("Name (required)").first().fill("Ada");
  await form.locator("form").evaluate(f=>f.noValidate=true);
  await form.getByRole("button",{name:"Answer"}).click(); await p.waitForTimeout(600);
  console.error(await p.evaluate(()=>document.activeElement.className), await p.title());
});
await shot("nojs-error",{viewport:{width:900,height:800},javaScriptEnabled:false,colorScheme:"dark"}, async p=>{
  const form = p.locator("article",{has:p.locator("h2",{hasText:/^choose$/})});
  await form.getByLabel(/minutes/i).fill("3");
  await form.getByRole("button",{name:"Decline"}).click(); await p.waitForTimeout(600);
});
await browser.close(); process.exit(0);
