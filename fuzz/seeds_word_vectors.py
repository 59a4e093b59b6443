"""Seeds of the target of word vectors as text: whole files; their last two bytes are also taken as counts before them."""
import gzip


def seeds_word_vectors():
    counted = b"3 2\nthe 0.1 -0.5 \n. . . 1e-3 2 \n42 nan inf \n"
    yield "counted", counted
    yield "glove", b"the 0.418 0.24968\n, 0.013441 0.23682\n. . . 0.15164 0.30177\n"
    yield "no_end", b"the 0.418 0.24968\n<unk> 1 2"
    yield "crlf", b"2 2\r\na 1 2\r\nb 3 4\r\n"
    yield "mark", b"\xef\xbb\xbfa 1 2\nb 3 4\n"
    yield "bytes", b"2 1\n\xff\xfe 1\n\xc2\xa0 2\n"
    yield "spaces", b"2 2\n  1 2\n x  y \t 1\t  2\t\n"
    yield "few", b"3 2\na 1 2\nb 1\n"
    yield "more", b"2 2\na 1 2\nb 0.5 1 2\n"
    yield "empty_line", b"a 1 2\n\nb 1 2\n"
    yield "no_number", b"2 2\na 1 x\nb 1 2\n"
    yield "long_number", b"1 1\na 0." + b"3" * 1200 + b"\n"
    yield "hard_numbers", b"a 1.00000017881393432617187500 1e-45\nb 3.4028236e38 7.0e-46\n"
    yield "csv", b"1,2\n3,4\n"
    yield "titled", b"word,x,y\n\"a,\"\"b\",1,2\nc, 3 ,4\n"
    yield "pandas", b",0,1\na,1,2\nb,3,4\n"
    yield "tsv", b"a b\t1\t2\nc\t3\t4\n"
    yield "blanks", b"0.5 1.5\n2.5 3\n"
    yield "huge", b"99999999999999999999999 18446744073709551615\na 1\n"
    yield "none", b"0 5\n"
    yield "packed", gzip.compress(counted, mtime=0)
    yield "as_counts", b"a 1 2\nb 3 4\n\x02\x02"
